/** What everything with a name has in common: the name for programs and the title for people (basic/index). */
export type BaseMetadata = {
  /** Identifies the thing to programs; shown to people where there is no title. */
  readonly name: string
  /** What people see. */
  readonly title?: string | undefined
}

/** An image that stands for something in a user interface (basic/index, `icons`). */
export type Icon = {
  /** An `https:` or `data:` URI; fetch it only from an origin that is trusted, because an SVG may hold a script. */
  readonly src: string
  /** Overrides the media type that the source states. */
  readonly mimeType?: string | undefined
  /** `48x48`, or `any` for a format that scales; absent means every size. */
  readonly sizes?: readonly string[] | undefined
  /** The background that the icon was drawn for; absent means both. */
  readonly theme?: 'dark' | 'light' | undefined
}

/** What can be shown with icons (basic/index, `icons`). */
export type Icons = {
  /** The same picture in several sizes, formats or themes. */
  readonly icons?: readonly Icon[] | undefined
}

/**
 * The software at one end, as it describes itself (basic/index, `_meta`). For display and logs alone: nobody has
 * checked it, so no decision may rest on it.
 */
export type Implementation = BaseMetadata &
  Icons & {
    /** The version of the software, not of the protocol. */
    readonly version: string
    /** What the software does, for people. */
    readonly description?: string | undefined
    /** Where people read more. */
    readonly websiteUrl?: string | undefined
  }
