/** Makes a class of errors with a name of its own, which survives the minification of the packages. */
export function namedError<const Name extends string>(name: Name) {
  return class extends Error {
    override readonly name = name;
  };
}
