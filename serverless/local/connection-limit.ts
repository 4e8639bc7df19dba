/**
 * The most open connections of a server. Others are closed at once. Without this limit, idle connections could use up the
 * file descriptors. Then LevelDB could not open its next file, and would refuse all writes until the next start.
 */
export const maxConnections = 1_000;
