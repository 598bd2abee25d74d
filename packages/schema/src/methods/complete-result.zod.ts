import * as z from 'zod/mini'
import { en } from 'zod/locales'
import { isJsonObject } from '@x/core'
import { zodOf } from '../basic/zod-of.ts'
import { inputRequiredResult } from '../patterns/mrtr.ts'

/** First fills in defaults for results of servers of an earlier revision. */
export function completeResultValidator<R extends { readonly resultType: string }>(
  validator: z.ZodMiniType<R>,
  fillDefaults: (result: object) => object = withResultType,
): z.ZodMiniType<R> {
  const fillTransform = z.transform((value) => (isJsonObject(value) ? fillDefaults(value) : value))
  return z
    .pipe(fillTransform, validator)
    .check(
      z.refine(({ resultType }) => resultType === 'complete', { path: ['resultType'], message: 'expected "complete"' }),
    )
}

function withResultType(result: object): object {
  return { resultType: 'complete', ...result }
}

/** Fills in `resultType`, `cacheScope` and `ttlMs` where they are absent. A negative `ttlMs` becomes 0. */
export function fillCacheHints(result: object): object {
  const filledResult = { resultType: 'complete', cacheScope: 'private', ttlMs: 0, ...result }
  return typeof filledResult.ttlMs === 'number' && filledResult.ttlMs < 0 ? { ...filledResult, ttlMs: 0 } : filledResult
}

const inputRequiredValidator = zodOf(inputRequiredResult).check(
  z.refine(
    (result) => result.inputRequests !== undefined || result.requestState !== undefined,
    'expected inputRequests, requestState or both',
  ),
)

/**
 * For results that are complete or ask for input. The `resultType` selects one of two validators, because a union would
 * report the issues of both.
 */
export function completeOrInputRequiredValidator<R>(
  completeValidator: z.ZodMiniType<R>,
): z.ZodMiniType<R | z.output<typeof inputRequiredValidator>> {
  return z.transform((value: unknown, context) => {
    const asksForInput = isJsonObject(value) && value['resultType'] === 'input_required'
    const parsed = (asksForInput ? inputRequiredValidator : completeValidator).safeParse(value, englishErrorParams)
    if (parsed.success) return parsed.data
    for (const { path, message } of parsed.error.issues) {
      context.issues.push({ code: 'custom', path, message, input: value })
    }
    return z.NEVER
  })
}

/** A validator of this package, or any other zod schema. */
export interface Validator {
  safeParse(
    value: unknown,
    params: z.core.ParseContext<z.core.$ZodIssue>,
  ): { readonly error?: { readonly issues: readonly z.core.$ZodIssue[] } | undefined }
}

/** Passed on each call, because the application may set zod's global locale. */
const englishErrorParams: { readonly error: z.core.$ZodErrorMap } = { error: en().localeError }

/**
 * Path and reason of the first validation failure, such as `content.0.text` and the expected type. Undefined for a
 * valid value. An empty path means the value itself. A path may contain keys of a peer, unchanged.
 */
export function issueOf(
  validator: Validator,
  value: unknown,
): { readonly path: string; readonly message: string } | undefined {
  const [issue] = validator.safeParse(value, englishErrorParams).error?.issues ?? []
  return issue && { path: issue.path.map(String).join('.'), message: issue.message }
}
