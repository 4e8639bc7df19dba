/** How long the network may hold a request. */
const maxHeldMs = 24 * 60 * 60 * 1000;

/** How wrong any clock may be: that of an instance, and that of the database. */
export const maxClockErrorMs = 24 * 60 * 60 * 1000;

/**
 * How late a write may arrive: from the time on its instance's clock, which may be behind, to the time on the database's
 * clock, which may be ahead.
 *
 * AWS itself refuses a request five minutes after the time in its signature ("AWS Signature Version 4 for API requests",
 * AWS Identity and Access Management User Guide). The engines of a laptop check no signature.
 */
export const maxWriteDelaySeconds = (maxHeldMs + 2 * maxClockErrorMs) / 1000;
