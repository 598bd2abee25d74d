/**
 * Reads OpenAPI documents from files.
 *
 * @module @x/openapi/node
 */

export { readOpenApi } from './read-open-api.ts'
