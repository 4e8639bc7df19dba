import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** A resource of a CloudFormation template. */
interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type of resource has a shape of its own
  readonly Properties: any;
  readonly DependsOn?: string | string[];
}

/** A CloudFormation template. */
interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

/** Reads the template of a package, which is one of those in packaged-stages.ts. */
export function readTemplateText(name: string): string {
  const file = 'cloudformation-template-update-stack.json';
  return readFileSync(join(inject('packagesFolder'), name, file), 'utf8');
}

export function readTemplate(name = 'prod'): Template {
  return JSON.parse(readTemplateText(name));
}

/** Finds the resources of a type like `AWS::Lambda::Function`, by their logical ids. */
export function findResources({ Resources }: Template, type: string): Readonly<Record<string, Resource>> {
  return Object.fromEntries(Object.entries(Resources).filter(([, resource]) => resource.Type === type));
}
