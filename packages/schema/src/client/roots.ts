import type { MetaObject } from '../basic/meta.ts'

/** A place in the user's files that a server may work on (client/roots, root). */
export type Root = {
  readonly _meta?: MetaObject | undefined
  /** Starts with `file://` in this revision. */
  readonly uri: string
  /** The name for people. */
  readonly name?: string | undefined
}

/** Requests a client's roots; part of an `InputRequiredResult` (client/roots). */
export type ListRootsRequest = {
  readonly method: 'roots/list'
  readonly params?: { readonly _meta?: MetaObject | undefined } | undefined
}

/** A client's roots (client/roots). */
export type ListRootsResult = {
  readonly roots: readonly Root[]
}
