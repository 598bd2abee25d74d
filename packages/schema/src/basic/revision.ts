/** The revision of the protocol that these packages speak. */
export const protocolVersion = '2026-07-28'

/** The revisions of the protocol that were published, oldest first. */
export const protocolVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', protocolVersion] as const
