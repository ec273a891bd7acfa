-- Sets the amount of the hash KEYS[1] under the token ARGV[1] (20 digits, pdk_hold_token_text) and the hand-over ARGV[2]
-- (10 digits) to ARGV[3]. They are compared as texts of fixed length: Lua's numbers are doubles, in which two tokens above 2^53
-- can be one number.
local mark = ARGV[1] .. ':' .. ARGV[2]
if #ARGV[1] ~= 20 or #ARGV[2] ~= 10 or mark:find('[^%d:]') then
    return redis.error_reply('the token needs 20 digits, and the hand-over 10')
end
local last = redis.call('HGET', KEYS[1], 'mark')
if last and mark < last then
    return 'refused'
end
redis.call('HSET', KEYS[1], 'amount', ARGV[3], 'mark', mark)
return 'written'
