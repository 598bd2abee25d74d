/**
 * Makes tools of an OpenAPI document.
 *
 * @module @x/openapi
 */

export { describeOpenApi, openApiTools, type PlannedOperation } from './open-api-tools.ts'
export { isOpenApiError, OpenApiError, type OpenApiErrorCode } from './document/open-api-error.ts'
export type { ApiCredential, OpenApiOperation, OpenApiOptions } from './plan/options.ts'
export type { SchemaCut } from './document/assemble-schema.ts'
