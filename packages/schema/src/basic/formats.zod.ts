import * as z from 'zod/mini'

// A format is an annotation in dialect 2020-12, and no check at hand agrees with the RFCs to the letter: a peer's odd
// URI must not cost it the whole message. Whoever opens a URI or decodes Base64 finds out, and says so.

/** A string that the published schema says is a URI; not checked. */
export const uri: z.ZodMiniType<string> = z.string()

/** A string that the published schema says is a template of RFC 6570; not checked. */
export const uriTemplate: z.ZodMiniType<string> = z.string()

/** A string that the published schema says is Base64; not checked. */
export const base64: z.ZodMiniType<string> = z.string()
