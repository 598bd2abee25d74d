/**
 * Adds Apps to a server.
 *
 * @module @x/apps/server
 */

export { apps } from './apps.ts'
export {
  type AppPage,
  type AppPermission,
  type AppTool,
  type AppToolDefinition,
  type AppVisibility,
  type ServedPage,
  appTool,
  type ResultOf,
} from './app-tool.ts'
export type { AppCsp } from './page-policy.ts'
export { showsPages } from './shows-pages.ts'
