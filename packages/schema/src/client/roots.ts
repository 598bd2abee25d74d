import { type MetaObject, metaObject } from '../basic/meta.ts'
import { list, optional, type Shape, shape, string, literal } from '../basic/shape.ts'

/** A place in the user's files that a server may work on (client/roots, root). */
export type Root = {
  readonly _meta?: MetaObject | undefined
  /** The URI, which begins with `file://` in this revision. */
  readonly uri: string
  /** The name for people. */
  readonly name?: string | undefined
}

/** The shape of {@link Root}. */
export const root: Shape<Root> = shape<Root>({ uri: string, name: optional(string), _meta: optional(metaObject) })

/** Requests a client's roots. It is a part of an `InputRequiredResult` (client/roots). */
export type ListRootsRequest = {
  readonly method: 'roots/list'
  readonly params?: { readonly _meta?: MetaObject | undefined } | undefined
}

/** The shape of {@link ListRootsRequest}. */
export const listRootsRequest: Shape<ListRootsRequest> = shape<ListRootsRequest>({
  method: literal('roots/list'),
  params: optional(shape<NonNullable<ListRootsRequest['params']>>({ _meta: optional(metaObject) })),
})

/** A client's roots (client/roots). */
export type ListRootsResult = {
  readonly roots: readonly Root[]
}

/** The shape of {@link ListRootsResult}. */
export const listRootsResult: Shape<ListRootsResult> = shape<ListRootsResult>({ roots: list(root) })
