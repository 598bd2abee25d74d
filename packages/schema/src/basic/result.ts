import type { JsonValue } from './json.ts'
import type { ResultMetaObject } from './meta.ts'

/**
 * How a result is to be read: `complete` holds the final content, `input_required` asks for input first. Extensions add
 * values; one that is not known makes the result invalid (basic/index, ResultType).
 */
export type ResultType = 'complete' | 'input_required' | (string & {})

/** What every result has, and whatever else (basic/index, result responses). */
export type Result = {
  readonly _meta?: ResultMetaObject | undefined
  /** Absent in results of servers of an earlier revision, where it means `complete`. */
  readonly resultType: ResultType
  readonly [key: string]: JsonValue | undefined
}

/** A result that says no more than that the request succeeded (basic/index). */
export type EmptyResult = Result
