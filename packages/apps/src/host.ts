/**
 * MCP Apps for hosts: shows the pages of servers in sandboxed frames.
 *
 * @module @x/apps/host
 */

export type { AppFrame, AppWindow, FrameMessage, HostWindow } from './host/frame.ts'
export { appsCapabilities, pageUriOf } from './host/page.ts'
export { sandboxPage } from './host/sandbox-page.ts'
export type { AppHostClient, CallSignal } from './host/server-of-app.ts'
export type { ModelContext, ShowAppOptions } from './host/show-app-options.ts'
export { showApp, type ShownApp } from './host/show-app.ts'
