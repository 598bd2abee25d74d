import { list, numberFromZeroToOne, optional, shape, string, word } from './shape.ts'

/** The sender or recipient of messages in a conversation (server/prompts). */
export type Role = 'assistant' | 'user'

/** The shape of {@link Role}. */
export const role = word('assistant', 'user')

/** Hints for the use and display of content or a resource (server/resources, annotations). */
export type Annotations = {
  /** The intended audience of the data. */
  readonly audience?: readonly Role[] | undefined
  /** The time of the last modification, in ISO 8601. */
  readonly lastModified?: string | undefined
  /** The importance, from 0 (optional) to 1 (required). */
  readonly priority?: number | undefined
}

/** The shape of {@link Annotations}. */
export const annotations = shape<Annotations>({
  audience: optional(list(role)),
  lastModified: optional(string),
  priority: optional(numberFromZeroToOne),
})
