/**
 * Connections of a server of this process at the same time. More are closed at once. Otherwise idle ones could use up the
 * file descriptors, and LevelDB, which then cannot open its next file, would refuse all writes until the next start.
 */
export const maxConnections = 1_000;
