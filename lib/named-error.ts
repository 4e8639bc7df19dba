/** Makes the base of an error class. Its name survives the minification of the bundles, which shortens class names. */
export function namedError<const Name extends string>(name: Name) {
  return class extends Error {
    override readonly name = name;

    constructor(message?: string, options?: ErrorOptions) {
      super(message, options);
      // Lambda's runtime prints the name of the class.
      Object.defineProperty(new.target, 'name', { value: name });
    }
  };
}
