/**
 * Shows the page of `mcpx dev` for programs that bring their own server, with panels of their own.
 *
 * @module @x/cli/dev
 */

export { serveDev } from './dev/dev-server.ts'
export type { DevServer, ServeDevOptions } from './dev/dev-options.ts'
export type { Panel } from './dev/api/panel.ts'
export type { Instance } from './dev/wire/fetch.ts'
