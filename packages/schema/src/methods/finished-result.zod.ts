import * as z from 'zod/mini'
import { inEnglish } from '../basic/issue-of.zod.ts'
import { isJsonObject } from '../basic/json.ts'
import { inputRequiredResult } from '../patterns/mrtr.zod.ts'

/** Validates a complete result, after filling in defaults for servers of an earlier revision. */
export function finishedResult<R extends { readonly resultType: string }>(
  validator: z.ZodMiniType<R>,
  fill: (result: object) => object = withResultType,
): z.ZodMiniType<R> {
  const filled = z.transform((value) => (isJsonObject(value) ? fill(value) : value))
  return z
    .pipe(filled, validator)
    .check(
      z.refine(({ resultType }) => resultType === 'complete', { path: ['resultType'], message: 'expected "complete"' }),
    )
}

function withResultType(result: object): object {
  return { resultType: 'complete', ...result }
}

/** The cache fields of results, with defaults for a server that omits them. */
export function fillCacheHints(result: object): object {
  const filled = { resultType: 'complete', cacheScope: 'private', ttlMs: 0, ...result }
  return typeof filled.ttlMs === 'number' && filled.ttlMs < 0 ? { ...filled, ttlMs: 0 } : filled
}

const asking = inputRequiredResult.check(
  z.refine(
    (result) => result.inputRequests !== undefined || result.requestState !== undefined,
    'expected inputRequests, requestState or both',
  ),
)

/**
 * Validates a result that is complete or asks for input. Its `resultType` selects: a union would report the issues of
 * both.
 */
export function completeOrAsking<R>(completed: z.ZodMiniType<R>): z.ZodMiniType<R | z.output<typeof asking>> {
  return z.transform((value: unknown, context) => {
    const asks = isJsonObject(value) && value['resultType'] === 'input_required'
    const parsed = (asks ? asking : completed).safeParse(value, inEnglish)
    if (parsed.success) return parsed.data
    for (const { path, message } of parsed.error.issues) {
      context.issues.push({ code: 'custom', path, message, input: value })
    }
    return z.NEVER
  })
}
