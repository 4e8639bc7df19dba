/** A token, or a text in quotation marks (RFC 9110 section 5.6). */
const value = /"(?:[^"\\]|\\.)*"|[^\s",;]*/.source;

const parameter = new RegExp(String.raw`;\s*(?<name>[^\s",;=]+)(?:\s*=\s*(?<value>${value}))?\s*`, 'g');

const link = new RegExp(
  String.raw`<[^<>]*>\s*(?<parameters>(?:${parameter.source.replaceAll(/\?<\w+>/g, '?:')})*)`,
  'g',
);

/** Tells whether a `Link` header names a next page: a link with the relation type `next` (RFC 8288 section 3). */
export function hasNextPage(header: string | null): boolean {
  return [...(header ?? '').matchAll(link)].some(({ groups }) => {
    const parameters = [...(groups?.parameters ?? '').matchAll(parameter)];
    // Only the first one counts (section 3.3).
    const rel = parameters.find((each) => each.groups?.name?.toLowerCase() === 'rel')?.groups?.value ?? '';
    return rel.replaceAll('"', '').toLowerCase().split(/\s+/).includes('next');
  });
}
