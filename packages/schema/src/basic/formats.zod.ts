import * as z from 'zod/mini'

// In dialect 2020-12 a format is an annotation, and no available check matches the RFCs exactly. An invalid URI of a
// peer must not invalidate the whole message. Code that opens a URI or decodes Base64 reports the error.

/** A string that the published schema says is a URI; not checked. */
export const uri: z.ZodMiniType<string> = z.string()

/** A string that the published schema says is a template of RFC 6570; not checked. */
export const uriTemplate: z.ZodMiniType<string> = z.string()

/** A string that the published schema says is Base64; not checked. */
export const base64: z.ZodMiniType<string> = z.string()
