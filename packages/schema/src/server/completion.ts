import type { BaseMetadata } from '../basic/implementation.ts'
import type { RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'

/** A reference to the prompt whose argument is completed (server/utilities/completion, reference types). */
export type PromptReference = BaseMetadata & {
  readonly type: 'ref/prompt'
}

/** A reference to the resource template whose variable is completed (server/utilities/completion, reference types). */
export type ResourceTemplateReference = {
  readonly type: 'ref/resource'
  /** A URI, or a template of RFC 6570. */
  readonly uri: string
}

/** The params of a completion (server/utilities/completion). */
export type CompleteRequestParams = {
  readonly _meta: RequestMetaObject
  readonly ref: PromptReference | ResourceTemplateReference
  /** The argument, with its value typed so far. */
  readonly argument: { readonly name: string; readonly value: string }
  /** The values chosen before: other arguments of the prompt, or variables of the template. */
  readonly context?: { readonly arguments?: { readonly [name: string]: string } | undefined } | undefined
}

/** Requests completions of an argument (server/utilities/completion). */
export type CompleteRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'completion/complete'
  readonly params: CompleteRequestParams
}

/** The completions of an argument (server/utilities/completion). */
export type CompleteResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly completion: {
    /** The best matches first, at most 100. */
    readonly values: readonly string[]
    /** The total number of matches, which may exceed those sent. */
    readonly total?: number | undefined
    /** `true` when there are more matches, even if their number is unknown. */
    readonly hasMore?: boolean | undefined
  }
}

/** The response with a {@link CompleteResult}. */
export type CompleteResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: CompleteResult
}
