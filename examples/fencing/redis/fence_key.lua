-- Sets the plain key KEYS[1], which others read, under the token ARGV[1] (20 digits, pdk_hold_token_text) and the hand-over
-- ARGV[2] (10 digits) to ARGV[3]. The mark is in KEYS[2]. In a cluster both keys need the same {tag}.
local mark = ARGV[1] .. ':' .. ARGV[2]
if #ARGV[1] ~= 20 or #ARGV[2] ~= 10 or mark:find('[^%d:]') then
    return redis.error_reply('the token needs 20 digits, and the hand-over 10')
end
local last = redis.call('GET', KEYS[2])
if last and mark < last then
    return 'refused'
end
redis.call('SET', KEYS[2], mark)
redis.call('SET', KEYS[1], ARGV[3])
return 'written'
