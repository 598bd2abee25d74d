/**
 * The Apps extension of a server.
 *
 * @module @x/apps/server
 */

export { apps } from './apps.ts'
export {
  type AppCsp,
  type AppPage,
  type AppPermission,
  type AppTool,
  type AppToolDefinition,
  type AppVisibility,
  type ServedPage,
  appTool,
  type ResultOf,
} from './app-tool.ts'
export { showsPages } from './shows-pages.ts'
