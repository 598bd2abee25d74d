/**
 * Served to older clients, newest first. The messages of 2024-11-05 are served over stdio and Streamable HTTP, but its
 * transport HTTP+SSE is not supported.
 */
export const legacyRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** A revision of the protocol before 2026-07-28. */
export type LegacyRevision = (typeof legacyRevisions)[number]

/** What a revision's messages can contain. `capabilities.ts` has the capabilities of its peers. */
export interface RevisionFeatures {
  /** True if tools, prompts, resources and implementations have `icons`. */
  readonly hasIcons: boolean
  /** True if choices of forms have titles or several values. */
  readonly hasRichForms: boolean
  /** True if streams begin with an event that has an id and no data. */
  readonly hasPrimingEvents: boolean
  /** True if the revision has `title`, `outputSchema`, `structuredContent` and resource links. */
  readonly hasStructuredOutput: boolean
  /** True if a body may be an array of messages. */
  readonly hasBatches: boolean
  /** True if the revision has audio content, annotations of tools, and texts of progress. */
  readonly hasAudio: boolean
}

/** Revisions are dates, so they compare as text. */
export function revisionFeaturesOf(revision: LegacyRevision): RevisionFeatures {
  return {
    hasIcons: revision >= '2025-11-25',
    hasRichForms: revision >= '2025-11-25',
    hasPrimingEvents: revision >= '2025-11-25',
    hasStructuredOutput: revision >= '2025-06-18',
    hasBatches: revision === '2025-03-26',
    hasAudio: revision >= '2025-03-26',
  }
}

/** Undefined if the revision is not served. */
export function findRevision(name: unknown, servedRevisions: readonly LegacyRevision[]): LegacyRevision | undefined {
  return servedRevisions.find((revision) => revision === name)
}
