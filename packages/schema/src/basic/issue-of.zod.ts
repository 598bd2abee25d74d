import { en } from 'zod/locales'
import type * as z from 'zod/mini'

/** What judges a value: a validator of this package, or any other of zod's. */
export interface Validator {
  safeParse(
    value: unknown,
    params: z.core.ParseContext<z.core.$ZodIssue>,
  ): { readonly error?: { readonly issues: readonly z.core.$ZodIssue[] } | undefined }
}

/** What a judgement words its issues by. It is given each time: which language zod speaks otherwise is the application's to say. */
export const inEnglish: { readonly error: z.core.$ZodErrorMap } = { error: en().localeError }

/**
 * Where and why a validator refuses a value, such as `content.0.text` and what belongs there; undefined for a value that it takes. The path of the
 * value itself is empty. Keys of a peer's are given as they came.
 */
export function issueOf(
  validator: Validator,
  value: unknown,
): { readonly path: string; readonly message: string } | undefined {
  const [issue] = validator.safeParse(value, inEnglish).error?.issues ?? []
  return issue && { path: issue.path.map(String).join('.'), message: issue.message }
}
