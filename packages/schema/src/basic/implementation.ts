import { list, optional, type Shape, shape, string, literal } from './shape.ts'

/** Two names of an object: one for programs, and a title for people (basic/index). */
export type BaseMetadata = {
  /** Name for programs, shown to people if there is no title. */
  readonly name: string
  /** Name for people. */
  readonly title?: string | undefined
}

export const baseMetadataMembers = { name: string, title: optional(string) }

export const baseMetadata: Shape<BaseMetadata> = shape<BaseMetadata>(baseMetadataMembers)

/** An image that represents an object in a user interface (basic/index, `icons`). */
export type Icon = {
  /** An `https:` or `data:` URI. Fetch it only from a trusted origin, because an SVG may contain a script. */
  readonly src: string
  /** Media type, which overrides the one that the source states. */
  readonly mimeType?: string | undefined
  /** Sizes for which the image is made, such as `48x48`, or `any` for a scalable format. Absent means every size. */
  readonly sizes?: readonly string[] | undefined
  /** Theme for which the icon is designed. Absent means both. */
  readonly theme?: 'dark' | 'light' | undefined
}

export const icon: Shape<Icon> = shape<Icon>({
  src: string,
  mimeType: optional(string),
  sizes: optional(list(string)),
  theme: optional(literal('dark', 'light')),
})

/** Icons of an object (basic/index, `icons`). */
export type Icons = {
  /** One picture in several sizes, formats or themes. */
  readonly icons?: readonly Icon[] | undefined
}

export const iconsMembers = { icons: optional(list(icon)) }

export const icons: Shape<Icons> = shape<Icons>(iconsMembers)

/**
 * How a peer describes its own software (basic/index, `_meta`). It is unverified: use it for display and logs, and let
 * no decision depend on it.
 */
export type Implementation = BaseMetadata &
  Icons & {
    /** Version of the software, not of the protocol. */
    readonly version: string
    /** Describes the software, for people. */
    readonly description?: string | undefined
    /** A page about the software. */
    readonly websiteUrl?: string | undefined
  }

export const implementation: Shape<Implementation> = shape<Implementation>({
  ...baseMetadataMembers,
  description: optional(string),
  ...iconsMembers,
  version: string,
  websiteUrl: optional(string),
})
