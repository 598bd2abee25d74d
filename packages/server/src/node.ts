/**
 * Parts of a server that need Node.
 *
 * @module @x/server/node
 */

export { measureLoad } from './shedding/measure-load.ts'
