/**
 * Logins of the users of a gateway at its upstreams.
 *
 * @module @x/auth/login
 */

export type { Log, LogRecord } from '@x/core'
export { type UserLogin, userLogin, type UserLoginOptions } from './login/user-login.ts'
export type { ClientIdentity, ClientRegistration } from './client/client-identity.ts'
