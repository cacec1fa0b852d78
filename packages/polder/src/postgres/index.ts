export { makeFolder, type PostgresPrograms, postgresPrograms, postgresUser } from './programs.ts';
