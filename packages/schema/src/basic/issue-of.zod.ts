import { en } from 'zod/locales'
import type * as z from 'zod/mini'

/** A validator of this package, or any other zod schema. */
export interface Validator {
  safeParse(
    value: unknown,
    params: z.core.ParseContext<z.core.$ZodIssue>,
  ): { readonly error?: { readonly issues: readonly z.core.$ZodIssue[] } | undefined }
}

/**
 * The English messages of issues. They are passed on each call, since zod's global locale belongs to the application.
 */
export const inEnglish: { readonly error: z.core.$ZodErrorMap } = { error: en().localeError }

/**
 * Returns the path and the reason of a validation failure, such as `content.0.text` and the expected type; undefined
 * for a valid value. The path of the value itself is empty. Keys from a peer are included unchanged.
 */
export function issueOf(
  validator: Validator,
  value: unknown,
): { readonly path: string; readonly message: string } | undefined {
  const [issue] = validator.safeParse(value, inEnglish).error?.issues ?? []
  return issue && { path: issue.path.map(String).join('.'), message: issue.message }
}
