const dayMs = 24 * 60 * 60 * 1000;

/** How wrong any clock may be: that of an instance, and that of the database. */
const maxClockErrorMs = dayMs;

/**
 * How late a write may arrive: held by the network for a day, from the time on its instance's clock, which may be behind, to
 * the time on the database's clock, which may be ahead. AWS itself refuses a request five minutes after the time in its
 * signature ("AWS Signature Version 4 for API requests"). The engines of a laptop check no signature.
 *
 * An update that is late finds another version and does nothing, however late. A create needs something in its place: a
 * tombstone, or an idempotency record.
 */
export const maxWriteDelaySeconds = (dayMs + 2 * maxClockErrorMs) / 1000;
