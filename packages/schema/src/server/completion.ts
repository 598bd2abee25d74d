import { type BaseMetadata, baseMetadataMembers } from '../basic/implementation.ts'
import { type RequestMetaObject, requestMetaObject, type ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import {
  boolean,
  unionByMember,
  integer,
  map,
  optional,
  type Shape,
  shape,
  string,
  stringsUpTo,
  literal,
} from '../basic/shape.ts'

/** Refers to the prompt whose argument is completed (server/utilities/completion, reference types). */
export type PromptReference = BaseMetadata & {
  readonly type: 'ref/prompt'
}

export const promptReference: Shape<PromptReference> = shape<PromptReference>({
  ...baseMetadataMembers,
  type: literal('ref/prompt'),
})

/** Refers to the resource template whose variable is completed (server/utilities/completion, reference types). */
export type ResourceTemplateReference = {
  readonly type: 'ref/resource'
  /** A URI, or a URI template (RFC 6570). */
  readonly uri: string
}

export const resourceTemplateReference: Shape<ResourceTemplateReference> = shape<ResourceTemplateReference>({
  type: literal('ref/resource'),
  uri: string,
})

/** Params of a `completion/complete` request (server/utilities/completion). */
export type CompleteRequestParams = {
  readonly _meta: RequestMetaObject
  readonly ref: PromptReference | ResourceTemplateReference
  /** Argument to complete. `value` is what the user has typed so far. */
  readonly argument: { readonly name: string; readonly value: string }
  /** What the user has chosen for other arguments of the prompt, or for other variables of the template. */
  readonly context?: { readonly arguments?: { readonly [name: string]: string } | undefined } | undefined
}

export const completeRequestParams: Shape<CompleteRequestParams> = shape<CompleteRequestParams>({
  _meta: requestMetaObject,
  ref: unionByMember<CompleteRequestParams['ref'], 'type'>('type', {
    'ref/prompt': promptReference,
    'ref/resource': resourceTemplateReference,
  }),
  argument: shape<CompleteRequestParams['argument']>({ name: string, value: string }),
  context: optional(shape<NonNullable<CompleteRequestParams['context']>>({ arguments: optional(map(string)) })),
})

/** Completions of an argument (server/utilities/completion). */
export type CompleteResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly completion: {
    /** Matches, the best ones first. At most 100. */
    readonly values: readonly string[]
    /** How many matches there are, which may be more than `values` has. */
    readonly total?: number | undefined
    /** There are more matches than `values`, even if their number is unknown. */
    readonly hasMore?: boolean | undefined
  }
}

export const completeResult: Shape<CompleteResult> = shape<CompleteResult>({
  ...resultMembers,
  completion: shape<CompleteResult['completion']>({
    values: stringsUpTo(100),
    total: optional(integer),
    hasMore: optional(boolean),
  }),
})
