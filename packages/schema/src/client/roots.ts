import { type MetaObject, metaObject } from '../basic/meta.ts'
import { list, optional, type Shape, shape, string, literal } from '../basic/shape.ts'

/** A place in the user's files that a server may work on (client/roots, root). */
export type Root = {
  readonly _meta?: MetaObject | undefined
  /** Begins with `file://` in this revision. */
  readonly uri: string
  /** Name for people. */
  readonly name?: string | undefined
}

export const root: Shape<Root> = shape<Root>({ uri: string, name: optional(string), _meta: optional(metaObject) })

/** Asks for a client's roots. It is a part of an `InputRequiredResult` (client/roots). */
export type ListRootsRequest = {
  readonly method: 'roots/list'
  readonly params?: { readonly _meta?: MetaObject | undefined } | undefined
}

export const listRootsRequest: Shape<ListRootsRequest> = shape<ListRootsRequest>({
  method: literal('roots/list'),
  params: optional(shape<NonNullable<ListRootsRequest['params']>>({ _meta: optional(metaObject) })),
})

/** Roots of a client (client/roots). */
export type ListRootsResult = {
  readonly roots: readonly Root[]
}

export const listRootsResult: Shape<ListRootsResult> = shape<ListRootsResult>({ roots: list(root) })
