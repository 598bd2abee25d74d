/** The two names of an object: one for programs and a title for people (basic/index). */
export type BaseMetadata = {
  /** The identifier for programs; shown to people where there is no title. */
  readonly name: string
  /** The name for people. */
  readonly title?: string | undefined
}

/** An image that represents an object in a user interface (basic/index, `icons`). */
export type Icon = {
  /** An `https:` or `data:` URI; fetch it only from an origin that is trusted, because an SVG may hold a script. */
  readonly src: string
  /** Overrides the media type that the source states. */
  readonly mimeType?: string | undefined
  /** `48x48`, or `any` for a scalable format; absent means every size. */
  readonly sizes?: readonly string[] | undefined
  /** The background that the icon is designed for; absent means both. */
  readonly theme?: 'dark' | 'light' | undefined
}

/** The icons of an object (basic/index, `icons`). */
export type Icons = {
  /** The same picture in several sizes, formats or themes. */
  readonly icons?: readonly Icon[] | undefined
}

/**
 * A peer's self-description of its software (basic/index, `_meta`). For display and logs alone: it is unverified, so no
 * decision may depend on it.
 */
export type Implementation = BaseMetadata &
  Icons & {
    /** The version of the software, not of the protocol. */
    readonly version: string
    /** A description of the software, for people. */
    readonly description?: string | undefined
    /** A page about the software. */
    readonly websiteUrl?: string | undefined
  }
