import type { BaseMetadata } from '../basic/implementation.ts'
import type { RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { RequestId } from '../basic/rpc.ts'

/** Names the prompt whose argument is completed (server/utilities/completion, reference types). */
export type PromptReference = BaseMetadata & {
  readonly type: 'ref/prompt'
}

/** Names the resource template whose variable is completed (server/utilities/completion, reference types). */
export type ResourceTemplateReference = {
  readonly type: 'ref/resource'
  /** A URI, or a template of RFC 6570. */
  readonly uri: string
}

/** What to complete (server/utilities/completion). */
export type CompleteRequestParams = {
  readonly _meta: RequestMetaObject
  readonly ref: PromptReference | ResourceTemplateReference
  /** The argument, and how far its value has been typed. */
  readonly argument: { readonly name: string; readonly value: string }
  /** What was settled before: other arguments of the prompt, or variables of the template. */
  readonly context?: { readonly arguments?: { readonly [name: string]: string } | undefined } | undefined
}

/** Asks how an argument could be completed (server/utilities/completion). */
export type CompleteRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'completion/complete'
  readonly params: CompleteRequestParams
}

/** How an argument could be completed (server/utilities/completion). */
export type CompleteResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly completion: {
    /** The best first, at most 100. */
    readonly values: readonly string[]
    /** How many there are in all, which may be more than were sent. */
    readonly total?: number | undefined
    /** Whether there are more, even where nobody knows how many. */
    readonly hasMore?: boolean | undefined
  }
}

/** The response that brings a {@link CompleteResult}. */
export type CompleteResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: CompleteResult
}
