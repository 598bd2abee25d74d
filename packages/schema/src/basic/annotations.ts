/** Who speaks in a conversation, or is spoken to (server/prompts). */
export type Role = 'assistant' | 'user'

/** Hints on how content or a resource is best used or shown (server/resources, annotations). */
export type Annotations = {
  /** Whom the data is meant for. */
  readonly audience?: readonly Role[] | undefined
  /** When the data last changed, as ISO 8601 text. */
  readonly lastModified?: string | undefined
  /** From 0, wholly optional, to 1, as good as required. */
  readonly priority?: number | undefined
}
