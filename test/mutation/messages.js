/** Leaves out texts of messages: the first argument of `new …Error(…)`, and of `new errors.…(…)` of jose. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'messages',
    value: {
      shouldIgnore({ node, key, listKey, parent }) {
        const isText = node.type === 'StringLiteral' || node.type === 'TemplateLiteral';
        const isFirstArgument = listKey === 'arguments' && key === 0 && parent.type === 'NewExpression';
        if (!isText || !isFirstArgument) return undefined;
        const { name, object } = parent.callee;
        const isError = name?.endsWith('Error') || object?.name === 'errors';
        return isError ? 'The message of an error is a text for people. Clients never see it.' : undefined;
      },
    },
  },
];
