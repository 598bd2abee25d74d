/**
 * What needs Node: a loopback redirect, a file store, the pages of a gateway, and a `fetch` that reaches no private
 * addresses.
 *
 * @module @x/auth/node
 */

export { fileStore, type FileStoreOptions } from './node/file-store.ts'
export { guardedFetch, type GuardedFetchOptions } from './node/guarded-fetch.ts'
export { loginPages } from './node/login-pages.ts'
export { loopbackRedirect, type LoopbackRedirectOptions } from './node/loopback-redirect.ts'
export { openBrowser } from './node/loopback-redirect.ts'
