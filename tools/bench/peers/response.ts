/** The envelope, which is sent as JSON with `status` as the HTTP status. */
export interface Envelope {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
}

export function respond(status: number, message: string, data: unknown = null): Envelope {
  return { status, message, data };
}
