/**
 * Pages in files.
 *
 * @module @x/apps/node
 */

export { pageFile } from './page-file.ts'
