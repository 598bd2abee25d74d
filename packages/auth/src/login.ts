/**
 * Lets the users of a gateway log in at its upstreams.
 *
 * @module @x/auth/login
 */

export type { Log, LogRecord } from '@x/core'
export { type UserLogin, userLogin, type UserLoginOptions } from './login/user-login.ts'
export type { ClientIdentity, ClientRegistration } from './client/client-identity.ts'
