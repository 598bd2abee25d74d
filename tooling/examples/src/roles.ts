// #region table
/** The roles of your users, in your database. */
export interface RoleTable {
  roleOf(user: string): Promise<string>
  /** Calls `listener` after the role of a user has changed, for example by LISTEN and NOTIFY of PostgreSQL. */
  onChange(listener: (user: string) => void): void
}
// #endregion

// #region token
import { protect, type Protection } from '@x/auth/server'
import * as z from 'zod'

export const protectWithRoles = (resource: string, issuer: string, roles: RoleTable): Protection =>
  protect({
    resource,
    issuers: [issuer],
    toPrincipal: async ({ sub }) => {
      const subject = z.string().parse(sub)
      return { subject, issuer, scopes: [await roles.roleOf(subject)] }
    },
  })
// #endregion

// #region server
import { contextKey, type Middleware, withContext } from '@x/exchange'
import { createServer, type McpServer, tool } from '@x/server'

const roleKey = contextKey<string>('com.example/role')

const lookUp = tool('look_up', { description: 'Looks an item up', run: () => 'an item' })
const erase = tool('erase', {
  description: 'Erases an item',
  visibleTo: (_, call) => call.context.get(roleKey) === 'admin',
  run: () => 'erased',
})

export function createRolesServer(roles: RoleTable): McpServer {
  const withRole: Middleware = (next) => async (request, call) => {
    const user = call.principal?.subject
    return next(request, user === undefined ? call : withContext(call, roleKey, await roles.roleOf(user)))
  }
  const server = createServer({
    name: 'items',
    version: '1.0.0',
    state: false,
    tools: [lookUp, erase],
    use: [withRole],
  })
  roles.onChange(() => void server.notifyListChanged('tools'))
  return server
}
// #endregion
