/** Protocol revision of these packages. */
export const protocolVersion = '2026-07-28'

/** Published protocol revisions, oldest first. */
export const protocolVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', protocolVersion] as const
