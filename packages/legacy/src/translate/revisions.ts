/** The revisions that are served to older clients, newest first. */
export const legacyRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** A revision of the protocol before 2026-07-28. */
export type LegacyRevision = (typeof legacyRevisions)[number]

/** The features of a revision. */
export interface RevisionFeatures {
  /**
   * `icons` of tools, prompts, resources and implementations. The next two are URL elicitation, and choices with titles
   * or of several values.
   */
  readonly hasIcons: boolean
  readonly hasUrlElicitation: boolean
  readonly hasRichForms: boolean
  /** Sampling with tools, and several content blocks in one message. */
  readonly hasSamplingTools: boolean
  /** Streams begin with an event that has an id and no data. */
  readonly hasPrimingEvents: boolean
  /** `title`, `outputSchema`, `structuredContent`, resource links and form elicitation. */
  readonly hasStructuredOutput: boolean
  /** A body may be an array of messages. */
  readonly hasBatches: boolean
  /** Audio content, annotations of tools, and texts of progress. */
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
  // The messages of 2024-11-05 are served over stdio and Streamable HTTP. Its transport HTTP+SSE is not.
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

/** Returns the revision of that name among those that are served. */
export function findRevision(name: unknown, servedRevisions: readonly LegacyRevision[]): LegacyRevision | undefined {
  return servedRevisions.find((revision) => revision === name)
}
