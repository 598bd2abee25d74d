/** The revisions that are served to older clients, newest first. */
export const legacyRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** A revision of the protocol before 2026-07-28. */
export type LegacyRevision = (typeof legacyRevisions)[number]

/** The features of a revision. */
export interface RevisionFeatures {
  /**
   * True if tools, prompts, resources and implementations have `icons`. `hasUrlElicitation` is true if URLs can be
   * elicited. `hasRichForms` is true if choices have titles or several values.
   */
  readonly hasIcons: boolean
  readonly hasUrlElicitation: boolean
  readonly hasRichForms: boolean
  /** True if sampling can use tools, and one message can have several content blocks. */
  readonly hasSamplingTools: boolean
  /** True if streams begin with an event that has an id and no data. */
  readonly hasPrimingEvents: boolean
  /** True if the revision has `title`, `outputSchema`, `structuredContent`, resource links and form elicitation. */
  readonly hasStructuredOutput: boolean
  /** True if a body may be an array of messages. */
  readonly hasBatches: boolean
  /** True if the revision has audio content, annotations of tools, and texts of progress. */
  readonly hasAudio: boolean
}

const featuresByRevision: { readonly [R in LegacyRevision]: RevisionFeatures } = {
  '2025-11-25': {
    hasIcons: true,
    hasUrlElicitation: true,
    hasRichForms: true,
    hasSamplingTools: true,
    hasPrimingEvents: true,
    hasStructuredOutput: true,
    hasBatches: false,
    hasAudio: true,
  },
  '2025-06-18': {
    hasIcons: false,
    hasUrlElicitation: false,
    hasRichForms: false,
    hasSamplingTools: false,
    hasPrimingEvents: false,
    hasStructuredOutput: true,
    hasBatches: false,
    hasAudio: true,
  },
  '2025-03-26': {
    hasIcons: false,
    hasUrlElicitation: false,
    hasRichForms: false,
    hasSamplingTools: false,
    hasPrimingEvents: false,
    hasStructuredOutput: false,
    hasBatches: true,
    hasAudio: true,
  },
  // The messages of 2024-11-05 are served over stdio and Streamable HTTP, but its transport HTTP+SSE is not supported.
  '2024-11-05': {
    hasIcons: false,
    hasUrlElicitation: false,
    hasRichForms: false,
    hasSamplingTools: false,
    hasPrimingEvents: false,
    hasStructuredOutput: false,
    hasBatches: false,
    hasAudio: false,
  },
}

/** Returns the features of a revision. */
export function revisionFeaturesOf(revision: LegacyRevision): RevisionFeatures {
  return featuresByRevision[revision]
}

/** Returns the served revision with this name. Undefined if it is not served. */
export function findRevision(name: unknown, servedRevisions: readonly LegacyRevision[]): LegacyRevision | undefined {
  return servedRevisions.find((revision) => revision === name)
}
