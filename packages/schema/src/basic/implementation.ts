import { list, optional, type Shape, shape, string, literal } from './shape.ts'

/** The two names of an object: one for programs and a title for people (basic/index). */
export type BaseMetadata = {
  /** The identifier for programs. It is shown to people if there is no title. */
  readonly name: string
  /** The name for people. */
  readonly title?: string | undefined
}

/** The shapes of the members of a {@link BaseMetadata}. */
export const baseMetadataMembers = { name: string, title: optional(string) }

/** The shape of {@link BaseMetadata}. */
export const baseMetadata: Shape<BaseMetadata> = shape<BaseMetadata>(baseMetadataMembers)

/** An image that represents an object in a user interface (basic/index, `icons`). */
export type Icon = {
  /** An `https:` or `data:` URI. Fetch it only from a trusted origin, because an SVG may contain a script. */
  readonly src: string
  /** The media type. It overrides the media type that the source states. */
  readonly mimeType?: string | undefined
  /**
   * The sizes for which the image is made, such as `48x48`, or `any` for a scalable format. Absent means every size.
   */
  readonly sizes?: readonly string[] | undefined
  /** The theme for which the icon is designed. Absent means both themes. */
  readonly theme?: 'dark' | 'light' | undefined
}

/** The shape of {@link Icon}. */
export const icon: Shape<Icon> = shape<Icon>({
  src: string,
  mimeType: optional(string),
  sizes: optional(list(string)),
  theme: optional(literal('dark', 'light')),
})

/** The icons of an object (basic/index, `icons`). */
export type Icons = {
  /** The same picture in several sizes, formats or themes. */
  readonly icons?: readonly Icon[] | undefined
}

/** The shapes of the members of {@link Icons}. */
export const iconsMembers = { icons: optional(list(icon)) }

/** The shape of {@link Icons}. */
export const icons: Shape<Icons> = shape<Icons>(iconsMembers)

/**
 * A peer's description of its own software (basic/index, `_meta`). Use it only for display and logs. It is unverified,
 * so that no decision may depend on it.
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

/** The shape of {@link Implementation}. */
export const implementation: Shape<Implementation> = shape<Implementation>({
  ...baseMetadataMembers,
  description: optional(string),
  ...iconsMembers,
  version: string,
  websiteUrl: optional(string),
})
