/** What this plugin of StrykerJS uses of a node's path in Babel's tree. */
interface NodePath {
  readonly node: {
    readonly type: string;
    /** A class, or a member of an object with classes. */
    readonly callee?: { readonly name?: string; readonly object?: { readonly name?: string } };
  };
  readonly key: string | number | null;
  readonly listKey?: string | null;
  readonly parent?: NodePath['node'];
}

/** The reason of the mutants that this plugin leaves out. */
export const messageReason = 'The message of an error is a text for people. Clients never see it.';

/** Leaves out texts of messages: the first argument of `new …Error(…)`, and of `new errors.…(…)` of jose. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'messages',
    value: {
      shouldIgnore({ node, key, listKey, parent }: NodePath): string | undefined {
        const isText = node.type === 'StringLiteral' || node.type === 'TemplateLiteral';
        const isFirstArgument = listKey === 'arguments' && key === 0 && parent?.type === 'NewExpression';
        if (!isText || !isFirstArgument) return undefined;
        const isError = parent.callee?.name?.endsWith('Error') || parent.callee?.object?.name === 'errors';
        return isError ? messageReason : undefined;
      },
    },
  },
];
