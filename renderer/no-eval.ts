import { config } from 'zod';

// The page's content security policy forbids making code from text, and zod would try it once. Must run before any schema is made.
config({ jitless: true });
