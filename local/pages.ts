/** A document that the local service has for developers, besides the API. */
export interface Page {
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** The documents by the path of their GET request. Each is made when it is requested. */
export const pages: ReadonlyMap<string, () => Page | Promise<Page>> = new Map();
