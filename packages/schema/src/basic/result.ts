import type { JsonValue } from '@x/core'
import type { ResultMetaObject } from './meta.ts'

/**
 * The kind of a result: `complete` holds the final content, `input_required` asks for input first. Extensions add
 * values; an unknown one makes the result invalid (basic/index, ResultType).
 */
export type ResultType = 'complete' | 'input_required' | (string & {})

/** The members of every result, and any others (basic/index, result responses). */
export type Result = {
  readonly _meta?: ResultMetaObject | undefined
  /** Absent in results of servers of an earlier revision, where it means `complete`. */
  readonly resultType: ResultType
  readonly [key: string]: JsonValue | undefined
}

/** A result without content: the request succeeded (basic/index). */
export type EmptyResult = Result
